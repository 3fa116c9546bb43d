package recovery

import (
	"context"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/txn"
)

// schemaState is what the staged schema files are to a schema apply; packages
// promote and audit take over from here.
func schemaState(context.Context, blob.Store, string) (txn.Staging, []string, error) {
	return txn.NotStaged, nil, nil
}
