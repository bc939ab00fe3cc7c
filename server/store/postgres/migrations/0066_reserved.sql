-- Additive. Reserved.

SELECT 1;
