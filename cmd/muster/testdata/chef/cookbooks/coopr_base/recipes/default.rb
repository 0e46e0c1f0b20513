echo "base is told of $(sed -n 's/.*"clusterId":"\([^"]*\)".*/\1/p' "$attributes")"
