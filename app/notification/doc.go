// Package notification is what each person was notified of: their inbox, what they have read, and by which channels they want which kind.
// Rows are written with the notice itself, by package app/store/db.
package notification
