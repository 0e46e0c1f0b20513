package execution

// repairsAtOnce is how many clusters are seen to in one go.
const repairsAtOnce = 20
