// Package lock lets admins lock clusters and nodes: no one else can sign in to them, run commands on them or change them until they are unlocked. The
// rule itself is app.Cluster.CheckLock, which every change asks. It uses app/cluster.
package lock
