// Package archive reads archives of strangers, so that they can be unpacked without harm: tar, tar.gz and zip. Every entry is looked at:
// names that lead out, links that do, devices, and what is too large or too many when it is unpacked are refused with
// EInvalid or ETooLarge, which say which entry it was. Nothing is written to disk. What is safe is written anew, as a plain tar that no
// program reads otherwise than this one does.
package archive
