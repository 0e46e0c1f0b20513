// Package site is what the pages and REST operations of all nouns share: what the portal asks of the use cases, who sends
// a request, the frame around pages, forms, errors, lists, and the streams that keep pages up to date. It uses packages
// page and plan. The packages of the nouns (cluster, catalog, policy …) use it, and package portal joins them.
package site
