// Package bake says what of a node's software a baked image can hold, and names it by its content. It is pure: it knows no provider and no store.
//
// A layer is an image, its account, and the install actions of some services in the order in which they run; its key is a hash of all of that with
// everything that the actions see. Only installs whose input is the same on every node are baked: where one sees a secret, a macro or which node it
// runs on, the layers end before it.
package bake
