import HLSCaptions
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Replays the corpus of the fuzzers of caption files, and cuts of it.
@Suite struct CaptionCorpusTests {
    /// The files of `Fuzz/corpus-captions`; the ending tells the format.
    static let inputs: [(name: String, format: CaptionFormat, bytes: [UInt8])] = {
        let root = "\(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 })"
        let folder = root + "/Fuzz/corpus-captions"
        var inputs: [(String, CaptionFormat, [UInt8])] = []
        guard let directory = opendir(folder) else { return inputs }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let ending = name.split(separator: ".").last, let format = CaptionFormat(rawValue: String(ending)),
                let file = fopen("\(folder)/\(name)", "r")
            else { continue }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
            inputs.append((name, format, bytes))
        }
        return inputs.sorted { $0.0 < $1.0 }
    }()

    @Test("K05: every input of the corpus keeps the laws, whole and cut off")
    func replay() throws {
        #expect(Set(Self.inputs.map(\.format)) == Set(CaptionFormat.allCases))
        for (_, format, bytes) in Self.inputs {
            try ReaderChecks.check(bytes, as: format)
            for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 200)) {
                try ReaderChecks.check(Array(bytes.prefix(count)), as: format)
            }
        }
    }
}
