// Package label describes clusters: a text for people, and labels such as cost-centre=4711, by which clusters are found and counted and which
// their machines carry as tags. It has the rules, which hold at every door, and the use case that changes labels of a cluster. It never reads the
// catalog or a cluster by itself: both are given to it. Whatever is wrong with a label is EInvalid, with the field labels and what to write instead.
package label
