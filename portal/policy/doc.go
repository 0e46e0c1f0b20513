// Package policy holds the pages and REST operations of policies and of requests. It shows the preview of a request with package plan.
package policy
