package policy

import "muster/app"

type RequestInput struct{ Body app.ClusterRequest }
