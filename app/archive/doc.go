// Package archive reads tar, tar.gz and zip archives from people who aren't trusted, so that they can be unpacked
// safely. It checks every entry and refuses paths and links that lead outside, devices, and archives that are too large
// or have too many entries, with EInvalid or ETooLarge and the name of the entry. It writes nothing to disk. What
// passes is rewritten as a plain tar that every program reads in the same way.
package archive
