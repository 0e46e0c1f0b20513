// Package site is what the pages and REST operations of all nouns share: the use cases, authentication, the frame of pages, forms, errors,
// lists, and the streams that keep pages up to date. It uses packages page and plan. The packages of the nouns (cluster, catalog, policy …)
// use it, and package portal joins them.
package site
