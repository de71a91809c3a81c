import CZlib
import HLSKitLoading

/// Inflates gzip (any number of members) or deflate in pieces.
struct InflateStream: ~Copyable {
    private enum State {
        /// Before the first byte. The first two bytes identify the format of `deflate`.
        case start
        case inMember
        /// After a complete gzip member. Another one, zeros for padding, or the end may follow.
        case betweenMembers
        case ended
    }

    private let coding: ContentCoding
    // On the heap: zlib keeps the address of the struct and refuses a moved one.
    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.start
    private var firstByte: UInt8?

    init(_ coding: ContentCoding) throws(InflateError) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits is the largest window. Adding 16 selects the gzip format (zlib.h, inflateInit2).
        try Self.check(CZlib_inflateInit2(stream, coding == .gzip ? 31 : 15), stream, "inflateInit2")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Inflates as much of `input` as fits into `output`, and advances `input`.
    ///
    /// - Returns: The number of bytes written. If `output` is full, more may follow, even without input.
    mutating func step(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(InflateError) -> Int {
        var written = 0
        while written < output.count {
            switch state {
            case .start:
                guard try begin(&input) else { return written }
            case .inMember:
                let (count, isBlocked) = try inflateMember(
                    &input, into: UnsafeMutableRawBufferPointer(rebasing: output[written...]))
                written += count
                if isBlocked { return written }
            case .betweenMembers:
                guard let next = input.first else { return written }
                if next == 0 {
                    input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
                } else {
                    try Self.check(inflateReset(stream), stream, "inflateReset")
                    state = .inMember
                }
            case .ended:
                // Bytes after the end of deflate data are ignored.
                input = UnsafeRawBufferPointer(rebasing: input[input.endIndex...])
                return written
            }
        }
        return written
    }

    func finish() throws(InflateError) {
        switch state {
        case .betweenMembers, .ended: return
        case .start where firstByte == nil: throw InflateError(text: "not \(coding) data")
        case .start, .inMember: throw InflateError(text: "the \(coding) data ends too early")
        }
    }

    /// Distinguishes zlib's format from bare deflate data by its two-byte header (RFC 1950 §2.2).
    private mutating func begin(_ input: inout UnsafeRawBufferPointer) throws(InflateError) -> Bool {
        guard let byte = input.first else { return false }
        guard coding == .deflate else {
            state = .inMember
            return true
        }
        guard let first = firstByte else {
            firstByte = byte
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            return true
        }
        let hasHeader = first & 0x0F == 8 && (UInt16(first) << 8 | UInt16(byte)) % 31 == 0
        if !hasHeader { try Self.check(inflateReset2(stream, -15), stream, "inflateReset2") }
        state = .inMember
        var held: (UInt8) = first
        try withUnsafeMutableBytes(of: &held) { (bytes) throws(InflateError) in
            var rest = UnsafeRawBufferPointer(bytes)
            var none: UInt8 = 0
            // One byte of either format produces no output, but zlib needs an output buffer.
            _ = try withUnsafeMutableBytes(of: &none) { (place) throws(InflateError) in
                try inflateMember(&rest, into: place)
            }
        }
        return true
    }

    private mutating func inflateMember(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(InflateError) -> (count: Int, isBlocked: Bool) {
        // avail_in and avail_out are 32 bits wide.
        let given = min(input.count, 1 << 30)
        let room = min(output.count, 1 << 30)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(given)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(room)
        let result = CZlib.inflate(stream, Z_NO_FLUSH)
        let used = given - Int(stream.pointee.avail_in)
        let written = room - Int(stream.pointee.avail_out)
        input = UnsafeRawBufferPointer(rebasing: input[used...])
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
        switch result {
        case Z_STREAM_END:
            state = coding == .gzip ? .betweenMembers : .ended
            return (written, false)
        case Z_OK:
            return (written, written < room && input.isEmpty)
        case Z_BUF_ERROR:
            // No progress is possible: more input is needed.
            return (written, true)
        default:
            try Self.check(result == Z_NEED_DICT ? Z_DATA_ERROR : result, stream, "inflate")
            return (written, true)
        }
    }

    private static func check(
        _ result: Int32, _ stream: UnsafeMutablePointer<z_stream>, _ call: String
    ) throws(InflateError) {
        guard result != Z_OK else { return }
        let words = stream.pointee.msg.map { String(cString: $0) } ?? zError(result).map { String(cString: $0) } ?? ""
        throw InflateError(text: "\(call): zlib \(result): \(words)")
    }
}

struct InflateError: Error, Hashable {
    var text: String
}
