package store

// SealFirstForm seals as it was done before there were data keys.
func SealFirstForm(key, secret []byte, place string) []byte {
	aead, err := newAEAD(key)
	if err != nil {
		panic(err)
	}
	return sealWith(aead, nil, secret, place)
}

// SealedPlaces gives the beginnings of the places that rotations walk.
func SealedPlaces() map[string]bool {
	all := map[string]bool{}
	for _, c := range sealedColumns {
		all[c.place] = true
	}
	return all
}
