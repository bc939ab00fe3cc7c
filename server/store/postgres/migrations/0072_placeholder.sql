-- Additive. Placeholder.

SELECT 1;
