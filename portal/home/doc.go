// Package home holds the pages and the REST operations that lead to others: the dashboard, the search and the overview
// for admins. They sum up clusters, requests, quotas, templates, manual steps and notices, so this package uses those
// of these nouns, and none of them uses it.
package home
