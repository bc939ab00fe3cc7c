"""Links by which users set a password without knowing the present one."""
