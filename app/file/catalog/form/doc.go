// Package form has the two forms of catalog files: what their documents may say, and how an entry is read out of a document and written
// as one. Everything that is wrong is reported with its place. It looks at one file at a time, and knows nothing of directories, catalogs and
// what entries say of each other.
package form
