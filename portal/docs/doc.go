// Package docs shows the documentation in the portal: the pages of folder docs, rendered from Markdown when they are first opened, with
// a list of all pages and a search. It depends on nothing but the embedded files, and writes nothing: HTML in a page is dropped, pictures
// are left out, and links to files outside the documentation become plain text.
package docs
