// Package chef is the automator chef-solo: recipes of Chef, or of its free build Cinc, in local mode and without a server. Cookbooks, data bags and
// roles lie on the node as
// resources; a private directory has links to them, the attributes as JSON, the configuration, and what local mode writes of the node, and goes away
// with the run.
//
// Attributes are those that Coopr gave to its recipes, so that its services and cookbooks work as they are: see attributes.go.
//
// Chef is not to be had where this is tested. The tests run against a program of their own that reads its configuration and attributes, resolves run lists in
// cookbooks and roles, understands a little of recipes, and refuses what Chef refuses (standin_test.go). Errors: a run that failed is EScript with
// its exit code.
package chef
