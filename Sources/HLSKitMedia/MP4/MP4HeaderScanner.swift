/// Finds the header (`moov`) of an MP4 file at any position, from pieces of the file that the caller reads.
///
/// The caller passes any number of bytes that begin at ``offset`` until ``append(_:)`` returns a header. An unneeded
/// box moves ``offset`` past it immediately. A caller that can read by ranges continues there and never loads the media
/// in between. The scanner keeps only descriptive boxes, never media.
package struct MP4HeaderScanner: Sendable {
    package struct Header: Sendable {
        /// `ftyp` and `moov` in the form that ``MP4InitializationSection/init(parsing:)`` reads.
        package var bytes: [UInt8]
        package var movieRange: Range<Int>
        /// Whether media precedes `moov`, so that the file cannot be read sequentially.
        package var isAfterMedia: Bool
        /// The index of a fragmented file, or nil if it has none before its first fragment.
        package var index: SegmentIndex?
    }

    /// More boxes than any valid file has before its header.
    static let maximumBoxCount = 4096

    /// The offset of the next byte to append, from the start of the file.
    package private(set) var offset = 0

    /// The number of missing bytes of the current box, or nil between boxes.
    package var missingByteCount: Int? {
        guard case .collecting(_, _, let byteCount) = state else { return nil }
        return byteCount - collected.count
    }

    private enum State: Sendable {
        case header
        case collecting(FourCharacterCode, start: Int, byteCount: Int)
    }

    private var state = State.header
    private var collected: [UInt8] = []
    private var boxCount = 0
    private var fileType: [UInt8] = []
    private var hasSeenMedia = false
    /// A fragmented file's header, while the index may still follow.
    private var found: Header?

    package init() {}

    /// Reads the bytes at ``offset``. Returns nil while more are needed, and ignores all data after the header.
    ///
    /// - Throws: `unknownContainer` if the bytes do not look like MP4, `malformed` for a box of an impossible size,
    ///   `limitExceeded` for a header above 64 MiB or thousands of boxes before it.
    package mutating func append(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> Header? {
        var rest = bytes
        while true {
            switch state {
            case .header:
                if let header = try readHeader(&rest) { return header }
                if case .header = state, rest.isEmpty { return nil }
            case .collecting(let type, let start, let byteCount):
                let piece = rest.prefix(byteCount - collected.count)
                collected.append(contentsOf: piece)
                offset += piece.count
                rest = rest.dropFirst(piece.count)
                guard collected.count == byteCount else { return nil }
                let box = collected
                collected = []
                state = .header
                if let header = try take(box, type: type, start: start) { return header }
            }
        }
    }

    /// Returns the header at the end of the file.
    ///
    /// - Throws: `truncated` if the file ends within its header, `missingInitializationSection` if there is none.
    package mutating func finish() throws(MediaError) -> Header {
        if let found { return found }
        if !collected.isEmpty {
            throw MediaError(code: .truncated, byteOffset: offset, text: "the file ends within a box")
        }
        throw MediaError(
            code: .missingInitializationSection, byteOffset: offset, text: "an MP4 file without a 'moov' box")
    }

    private mutating func readHeader(_ rest: inout ArraySlice<UInt8>) throws(MediaError) -> Header? {
        let needed = collected.count < 8 ? 8 : 16
        let piece = rest.prefix(needed - collected.count)
        collected.append(contentsOf: piece)
        offset += piece.count
        rest = rest.dropFirst(piece.count)
        guard collected.count == needed else { return nil }
        let start = offset - needed
        var reader = BoxReader(collected[...], offset: start)
        let size32 = try reader.readUInt32()
        let type = try reader.readCode()
        if boxCount == 0, !MP4InitializationSection.topLevelTypes.contains(type) {
            throw MediaError(code: .unknownContainer, byteOffset: 0, text: "the bytes do not look like MP4")
        }
        var size: Int? = Int(size32)
        if size32 == 1 {
            guard needed == 16 else { return nil }  // its size follows
            size = Int(exactly: try reader.readUInt64())
        } else if size32 == 0 {
            // The box extends to the end of the file. Only media does that, and no box follows it.
            if let found { return found }
            throw MediaError(
                code: .missingInitializationSection, byteOffset: start, text: "an MP4 file without a 'moov' box")
        }
        let sum = start.addingReportingOverflow(size ?? 0)
        guard let size, size >= needed, !sum.overflow else {
            throw MediaError(code: .malformed, byteOffset: start, text: "box '\(type)' has an impossible size")
        }
        boxCount += 1
        guard boxCount <= Self.maximumBoxCount else {
            throw MediaError(
                code: .limitExceeded, byteOffset: start,
                text: "more than \(Self.maximumBoxCount) boxes, none of them 'moov'")
        }
        switch type {
        case "ftyp", "moov", "sidx":
            let limit = type == "moov" ? MP4SegmentReader.maximumMovieByteCount : MP4SegmentReader.maximumBoxByteCount
            guard size <= limit else {
                throw MediaError(
                    code: .limitExceeded, byteOffset: start,
                    text: "box '\(type)' of \(size) bytes, the limit is \(limit)")
            }
            state = .collecting(type, start: start, byteCount: size)
            return nil
        case "mdat", "moof":
            if let found { return found }
            hasSeenMedia = true
        default: break
        }
        collected = []
        let end = sum.partialValue
        let skipped = min(rest.count, end - offset)
        rest = rest.dropFirst(skipped)
        offset = end
        return nil
    }

    private mutating func take(_ bytes: [UInt8], type: FourCharacterCode, start: Int) throws(MediaError) -> Header? {
        var reader = BoxReader(bytes[...], offset: start)
        guard let box = try reader.nextBox() else { return nil }
        switch type {
        case "ftyp": fileType = bytes
        case "moov":
            guard found == nil else { return found }
            let header = Header(
                bytes: fileType + bytes, movieRange: start..<start + bytes.count, isAfterMedia: hasSeenMedia,
                index: nil)
            let section = try MP4InitializationSection(movie: box, majorBrand: "")
            guard section.isFragmented, !hasSeenMedia else { return header }
            found = header
        case "sidx":
            guard var header = found else { return nil }
            header.index = try? SegmentIndex(parsing: box)
            return header
        default: break
        }
        return nil
    }
}
