// Package volume keeps volumes: whom they belong to, which machine has them, and what happens to them. Packages execution and operation write here in
// their own transactions.
package volume
