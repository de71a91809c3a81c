import HLSKitLoading

/// Decodes the content codings of a body, the last one applied first, in bounded memory.
struct ContentDecoder: ~Copyable {
    private var outer: InflateStream
    private var inner: InflateStream?
    private let url: String
    private let outerOutput: UnsafeMutableRawBufferPointer
    private let innerOutput: UnsafeMutableRawBufferPointer
    private var between = UnsafeRawBufferPointer(start: nil, count: 0)
    private var mayHoldOuter = false
    private var mayHoldInner = false

    private static let pieceByteCount = 64 << 10

    /// - Parameter codings: One or two codings, in the order in which they were applied.
    init(_ codings: [ContentCoding], url: String) throws(LoadingError) {
        guard let last = codings.last, codings.count <= ContentCoding.maximumLayerCount else {
            preconditionFailure("one or two codings")
        }
        let outer = try Self.makeStream(last, url)
        let inner = codings.count == 2 ? try Self.makeStream(codings[0], url) : nil
        self.url = url
        self.outer = outer
        self.inner = inner
        outerOutput = .allocate(byteCount: Self.pieceByteCount, alignment: 16)
        innerOutput = .allocate(byteCount: codings.count == 2 ? Self.pieceByteCount : 0, alignment: 16)
    }

    private static func makeStream(_ coding: ContentCoding, _ url: String) throws(LoadingError) -> InflateStream {
        do throws(InflateError) {
            return try InflateStream(coding)
        } catch {
            throw LoadingError(code: .badContentEncoding, url: url, text: error.text)
        }
    }

    deinit {
        outerOutput.deallocate()
        innerOutput.deallocate()
    }

    /// The next piece decoded from `input`, or nil when all of it is consumed. The piece is valid until the next call.
    mutating func next(_ input: inout UnsafeRawBufferPointer) throws(LoadingError) -> UnsafeRawBufferPointer? {
        do throws(InflateError) {
            while true {
                if !between.isEmpty || mayHoldInner, inner != nil {
                    let count = try inner?.step(&between, into: innerOutput) ?? 0
                    mayHoldInner = count == innerOutput.count
                    if count > 0 { return UnsafeRawBufferPointer(rebasing: innerOutput[..<count]) }
                }
                guard !input.isEmpty || mayHoldOuter else { return nil }
                let count = try outer.step(&input, into: outerOutput)
                mayHoldOuter = count == outerOutput.count
                let piece = UnsafeRawBufferPointer(rebasing: outerOutput[..<count])
                if inner != nil {
                    between = piece
                } else if count > 0 {
                    return piece
                }
            }
        } catch {
            throw LoadingError(code: .badContentEncoding, url: url, text: error.text)
        }
    }

    func finish() throws(LoadingError) {
        do throws(InflateError) {
            try outer.finish()
            if inner != nil { try inner?.finish() }
        } catch {
            throw LoadingError(code: .badContentEncoding, url: url, text: error.text)
        }
    }
}
