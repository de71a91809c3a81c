extension MP4InitializationSection {
    /// Writes the initialization section of some tracks of a file, for samples in fragments.
    ///
    /// Boxes are copied unchanged. Sample tables are left empty, and `mvex` is added if it is missing.
    ///
    /// - Parameters:
    ///   - bytes: The header of the file, as ``init(parsing:)`` reads it.
    package static func fragmented(_ bytes: [UInt8], keeping trackIDs: [Int]) throws(MediaError) -> [UInt8] {
        var writer = MP4BoxWriter()
        var reader = BoxReader(bytes[...], offset: 0)
        while let box = try reader.nextBox(overrun: .truncated) {
            switch box.type {
            case "ftyp": copy(box, to: &writer)
            case "moov":
                try writer.box("moov") { writer throws(MediaError) in
                    try copyMovie(box, keeping: trackIDs, to: &writer)
                }
            default: break
            }
        }
        return writer.bytes
    }

    /// Clears the flag of tracks that are shown unless the user selects others.
    ///
    /// - Parameter bytes: Boxes, including a complete `moov` box.
    package static func disable(_ trackIDs: Set<Int>, in bytes: inout [UInt8]) {
        var places: [Int] = []
        var reader = BoxReader(bytes[...], offset: 0)
        while let movie = try? reader.nextBox() {
            guard movie.type == "moov" else { continue }
            var tracks = movie.payload
            while let track = try? tracks.nextBox() {
                guard track.type == "trak", let id = try? trackID(of: track), trackIDs.contains(id) else { continue }
                var boxes = track.payload
                while let box = try? boxes.nextBox() {
                    if box.type == "tkhd", box.endOffset - box.offset >= 12 { places.append(box.offset + 11) }
                }
            }
        }
        for place in places { bytes[place] &= ~1 }
    }

    private static func copy(_ box: Box, to writer: inout MP4BoxWriter) {
        writer.box(box.type) { $0.write(box.payload.rest) }
    }

    private static func copyMovie(
        _ movie: Box, keeping trackIDs: [Int], to writer: inout MP4BoxWriter
    ) throws(MediaError) {
        var reader = movie.payload
        var isFragmented = false
        while let child = try reader.nextBox() {
            switch child.type {
            case "trak":
                guard let id = try trackID(of: child), trackIDs.contains(id) else { continue }
                try copyTrack(child, to: &writer)
            case "mvex":
                isFragmented = true
                copy(child, to: &writer)
            case "mvhd", "pssh": copy(child, to: &writer)
            // Titles and images belong to the whole file and are read there.
            default: break
            }
        }
        guard !isFragmented else { return }
        writer.box("free") { $0.write(wholeFileMark) }
        writer.box("mvex") { writer in
            for id in trackIDs {
                writer.fullBox("trex") { writer in
                    writer.write32(UInt32(truncatingIfNeeded: id))
                    writer.write32(1)
                    for _ in 0..<3 { writer.write32(0) }
                }
            }
        }
    }

    private static func trackID(of track: Box) throws(MediaError) -> Int? {
        var reader = track.payload
        while var child = try reader.nextBox() {
            guard child.type == "tkhd" else { continue }
            let is64Bit = try child.payload.readVersionAndFlags().version == 1
            try child.payload.skip(is64Bit ? 16 : 8)
            return Int(try child.payload.readUInt32())
        }
        return nil
    }

    private static func copyTrack(_ box: Box, to writer: inout MP4BoxWriter) throws(MediaError) {
        try writer.box(box.type) { writer throws(MediaError) in
            var reader = box.payload
            while let child = try reader.nextBox() {
                switch child.type {
                case "mdia", "minf": try copyTrack(child, to: &writer)
                case "stbl":
                    try writer.box("stbl") { writer throws(MediaError) in try copyTables(child, to: &writer) }
                default: copy(child, to: &writer)
                }
            }
        }
    }

    private static func copyTables(_ table: Box, to writer: inout MP4BoxWriter) throws(MediaError) {
        var reader = table.payload
        while let child = try reader.nextBox() {
            if child.type == "stsd" { copy(child, to: &writer) }
        }
        for type: FourCharacterCode in ["stts", "stsc", "stco"] { writer.fullBox(type) { $0.write32(0) } }
        writer.fullBox("stsz") { writer in
            writer.write32(0)
            writer.write32(0)
        }
    }
}
