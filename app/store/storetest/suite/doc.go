// Package suite joins the cases of all nouns into the suites that every store passes. SQLite and PostgreSQL run the same ones.
package suite
