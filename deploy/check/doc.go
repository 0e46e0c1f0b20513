// Package check looks at the files of deploy: it is a module of its own, so that Helm and its kin are no part of Muster. Run it with `make check-deploy`.
package check
