package policy

import "muster/app/cluster"

type RequestInput struct{ Body cluster.CreateRequest }
