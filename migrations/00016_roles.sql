-- +goose Up
-- Until now the admins of the first tenant looked after the installation.
UPDATE users SET role = 'superadmin' WHERE tenant = 'default' AND role = 'admin';

-- +goose Down
UPDATE users SET role = 'admin' WHERE role = 'superadmin';
