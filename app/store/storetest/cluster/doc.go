// Package cluster has the cases of every store about clusters as people find them: names, lists, sharing, events and logs, repeated
// requests and the home page. It uses kit.
package cluster
