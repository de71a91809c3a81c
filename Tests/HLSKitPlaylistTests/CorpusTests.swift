import HLSKitTime
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct CorpusTests {
    static let inputs: [(name: String, bytes: [UInt8])] = {
        let folder = "\(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 })/Fuzz/corpus"
        var inputs = [
            ("media", Array(PlaylistParserTests.media.utf8)),
            ("multivariant", Array(PlaylistParserTests.multivariant.utf8)),
        ]
        guard let directory = opendir(folder) else { return inputs }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), let file = fopen("\(folder)/\(name)", "r") else { continue }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
            inputs.append((name, bytes))
        }
        return inputs.sorted { $0.0 < $1.0 }
    }()

    @Test("a corpus exists")
    func exists() { #expect(Self.inputs.count > 10) }

    @Test("every corpus input satisfies the invariants", arguments: inputs.indices)
    func replay(_ index: Int) throws {
        let bytes = Self.inputs[index].bytes
        try PlaylistChecks.reading(bytes)
        try PlaylistChecks.writing(bytes)
        try PlaylistChecks.merging(bytes)
        try PlaylistChecks.attributes(bytes)
    }

    @Test("truncated or changed inputs satisfy the invariants", arguments: inputs.indices)
    func mutations(_ index: Int) throws {
        let bytes = Self.inputs[index].bytes
        guard bytes.count < 3000, !bytes.isEmpty else { return }
        var random = SplitMix64(seed: UInt64(index))
        for _ in 0..<60 {
            var copy = bytes
            let place = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 4 {
            case 0: copy.removeSubrange(place...)
            case 1: copy[place] = Array("\n#:,=\"@{}$0x \t".utf8)[Int(random.next() % 14)]
            case 2: copy.remove(at: place)
            default:
                let end = min(bytes.count, place + Int(random.next() % 60))
                copy.insert(contentsOf: bytes[place..<end], at: Int(random.next() % UInt64(bytes.count)))
            }
            try PlaylistChecks.reading(copy)
            try PlaylistChecks.writing(copy)
            try PlaylistChecks.merging(copy)
            if !copy.contains(0x0A) { try PlaylistChecks.attributes(copy) }
        }
    }
}
