// Package identity manages tenants, users, groups, tokens, sessions and second factors, signs people in, and keeps the
// audit log. It uses app/catalog.
//
// What the database keeps is the only truth. Each method of the interfaces whose names end in Store is one transaction: it happens as a whole or not at all.
// Errors are *Error (ENotFound, EConflict, EStale) or unexpected. Reads of a tenant's rows name the tenant; a row of another tenant is ENotFound.
package identity
