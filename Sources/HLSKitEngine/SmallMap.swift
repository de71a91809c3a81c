/// A dictionary for a few entries, in which a linear search is faster than hashing.
struct SmallMap<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private(set) var keys: [Key] = []
    private var values: [Value?] = []

    init() {}

    subscript(key: Key) -> Value? {
        _read {
            if let index = keys.firstIndex(of: key) { yield values[index] } else { yield nil }
        }
        _modify {
            let index = keys.firstIndex(of: key) ?? append(key)
            // This also applies if the modifying code throws.
            defer { if values[index] == nil { remove(at: index) } }
            yield &values[index]
        }
    }

    mutating func removeValue(forKey key: Key) -> Value? {
        guard let index = keys.firstIndex(of: key) else { return nil }
        keys.remove(at: index)
        return values.remove(at: index)
    }

    private mutating func append(_ key: Key) -> Int {
        keys.append(key)
        values.append(nil)
        return keys.count - 1
    }

    private mutating func remove(at index: Int) {
        keys.remove(at: index)
        values.remove(at: index)
    }
}
