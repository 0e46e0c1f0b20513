package app

// NamesMost is up to how many nodes each knows the names of all others. The hosts files of a cluster have nodes² lines of some 60 bytes: of
// 1,000 nodes 60 MB, of 10,000 nodes 6 GB, which every change would write again. Nodes of larger clusters know those that the
// configuration names.
const NamesMost = 1000
