// Package fleet knows provisioners, shares the work between them, and finds machines that nothing accounts for.
// It uses app/catalog, app/cluster, app/execution, app/identity, app/operation and app/secret.
package fleet
