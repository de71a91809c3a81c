/// The announced samples that have not been found in the media yet, in file order.
struct SampleQueue: Sendable {
    /// The runs by offset. Those before `runIndex` are done.
    private var runs: [SampleRun] = []
    private var runIndex = 0
    private var tables: [TableCursor] = []

    mutating func add(_ fragment: [SampleRun]) {
        runs.removeSubrange(..<runIndex)
        runs.append(contentsOf: fragment)
        // Runs at the same offset cause an error when the media arrives, so their order does not matter.
        runs.sort { $0.offset < $1.offset }
        runIndex = 0
    }

    mutating func add(_ table: MP4SampleTable) {
        tables.append(
            contentsOf: table.tracks.map { track in
                var iterator = track.samples.makeIterator()
                let first = iterator.next()
                return TableCursor(
                    trackIndex: track.trackIndex, encryption: track.track.encryption, iterator: iterator, next: first)
            })
    }

    /// Returns the next sample with bytes, or nil if no more are announced.
    mutating func next() throws(MediaError) -> PendingSample? {
        while runIndex < runs.count {
            if let sample = try runs[runIndex].next() { return sample }
            runIndex += 1
        }
        return try nextOfTables()
    }

    private mutating func nextOfTables() throws(MediaError) -> PendingSample? {
        while true {
            // There are only a few tracks, so a search costs less than keeping them sorted.
            var first: (index: Int, offset: Int)?
            for (index, table) in tables.enumerated() {
                if let offset = table.next?.offset, offset < first?.offset ?? .max { first = (index, offset) }
            }
            guard let first else { return nil }
            if let sample = try tables[first.index].advance(), sample.byteCount > 0 { return sample }
        }
    }
}

private struct TableCursor: Sendable {
    let trackIndex: Int
    let encryption: TrackEncryption?
    var iterator: MP4SampleTable.Samples.Iterator
    var next: MP4SampleTable.Sample?

    mutating func advance() throws(MediaError) -> PendingSample? {
        guard let sample = next else { return nil }
        next = iterator.next()
        var sampleEncryption: SampleEncryption?
        if let encryption, encryption.isProtected {
            guard !encryption.constantInitializationVector.isEmpty else {
                throw MediaError(
                    code: .unsupported, byteOffset: sample.offset,
                    text: "an encrypted file that is not fragmented, with a vector for each sample")
            }
            var cursor = SampleEncryptionCursor(constantFor: encryption)
            sampleEncryption = try cursor.next()
        }
        return PendingSample(
            trackIndex: trackIndex, descriptionIndex: sample.descriptionIndex, offset: sample.offset,
            byteCount: sample.byteCount, pts: sample.pts, dts: sample.dts, duration: sample.duration,
            isSync: sample.isSync, encryption: sampleEncryption)
    }
}
