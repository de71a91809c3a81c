/// The keys and the map of the next segment, from the lines read so far.
///
/// They are added to the tables when a segment uses them, so that unused tags cost nothing.
struct SegmentKeys {
    private(set) var keys: [EncryptionKey] = []
    private(set) var map: MediaInitializationSection?
    private(set) var count = 0
    private var hasNewKeys = false
    private var hasNewMap = false
    private var keyLine: Range<Int>?
    private var mapLine: Range<Int>?

    /// Reads `EXT-X-KEY`.
    ///
    /// - Returns: `false` if the line has no effect.
    mutating func readKey(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) -> Bool {
        // A repeated identical line has no effect.
        if let keyLine, bytes.equals(keyLine, value) { return false }
        context.beginAttributes(value)
        hasNewKeys = true
        guard let key = try EncryptionKey(&context, bytes) else {
            keys.removeAll()
            keyLine = nil
            return true
        }
        let hadAlternatives = keys.count > 1
        let format = key.keyFormat ?? "identity"
        if let index = keys.firstIndex(where: { $0.effectiveKeyFormat == format }) {
            keys[index] = key
        } else {
            let limit = context.options.limits.maximumAlternativeKeyCount
            guard keys.count < limit else { throw context.limit("maximumAlternativeKeyCount", limit) }
            keys.append(key)
        }
        keyLine = keys.count == 1 && !hadAlternatives ? value : nil
        return true
    }

    /// Reads `EXT-X-MAP`.
    ///
    /// - Returns: `false` if the line has no effect.
    mutating func readMap(
        _ bytes: borrowing Span<UInt8>, _ value: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) -> Bool {
        if let mapLine, let map, bytes.equals(mapLine, value), map.keys == keys { return false }
        context.beginAttributes(value)
        guard let new = try MediaInitializationSection(&context, bytes, keys: keys) else { return false }
        if keys.contains(where: { $0.method == .aes128 && $0.iv == nil }) {
            try context.report(.missingAttribute, "the key of an EXT-X-MAP needs an IV", tag: .key)
        }
        mapLine = value
        map = new
        hasNewMap = true
        return true
    }

    mutating func store(
        in tables: inout SegmentTables, _ state: inout SegmentState, _ context: borrowing ReadingContext
    ) throws(PlaylistError) {
        if hasNewKeys {
            hasNewKeys = false
            state.keys = keys.isEmpty ? 0 : tables.keySets.count
            if !keys.isEmpty {
                tables.keySets.append(keys)
                count += keys.count
                let limit = context.options.limits.maximumKeyCount
                guard count <= limit else { throw context.limit("maximumKeyCount", limit) }
            }
        }
        if hasNewMap, let map {
            hasNewMap = false
            state.map = tables.maps.count
            tables.maps.append(map)
        }
    }

    /// Takes the keys and the map of a state after segments were reused. `count` is the new number of all keys.
    mutating func take(_ state: SegmentState, of tables: SegmentTables, count: Int) {
        keys = tables.keySets[state.keys]
        map = state.map.map { tables.maps[$0] }
        self.count = count
        keyLine = nil
        mapLine = nil
    }
}
