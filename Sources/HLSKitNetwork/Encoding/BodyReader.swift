import HLSKitLoading

/// Turns the bytes of a body into the bytes of the resource: decodes them, cuts them to the range and counts them.
struct BodyReader: ~Copyable {
    private let plan: BodyPlan
    private let url: String
    private var decoder: ContentDecoder?
    private var toSkip: UInt64
    private(set) var receivedByteCount = 0
    private(set) var decodedByteCount = 0

    init(_ plan: BodyPlan, url: String) throws(LoadingError) {
        self.plan = plan
        self.url = url
        toSkip = plan.skip
        decoder = plan.codings.isEmpty ? nil : try ContentDecoder(plan.codings, url: url)
    }

    /// Whether all requested bytes have been emitted. Any further bytes are surplus.
    var isSatisfied: Bool { plan.count.map { UInt64(decodedByteCount) >= $0 } ?? false }

    /// Reads the next bytes of the body.
    ///
    /// - Parameter emit: Receives the next bytes of the resource. Returns false to stop reading.
    mutating func read(
        _ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer) -> Bool
    ) throws(LoadingError) {
        receivedByteCount += bytes.count
        guard decoder != nil else {
            _ = try pass(bytes, emit)
            return
        }
        var rest = bytes
        while let piece = try decoder?.next(&rest) {
            guard try pass(piece, emit) else { return }
        }
    }

    private mutating func pass(
        _ bytes: UnsafeRawBufferPointer, _ emit: (UnsafeRawBufferPointer) -> Bool
    ) throws(LoadingError) -> Bool {
        var rest = bytes[...]
        if toSkip > 0 {
            let dropped = Int(min(toSkip, UInt64(rest.count)))
            toSkip -= UInt64(dropped)
            rest = rest.dropFirst(dropped)
        }
        if let count = plan.count {
            if plan.isExact, UInt64(decodedByteCount + rest.count) > count {
                throw LoadingError(
                    code: .badRange, url: url, text: "HTTP 206 with more than the \(count) bytes of the range")
            }
            rest = rest.prefix(Int(clamping: count - min(count, UInt64(decodedByteCount))))
        }
        guard !rest.isEmpty else { return !isSatisfied }
        decodedByteCount += rest.count
        guard decodedByteCount <= plan.limit else {
            throw LoadingError(code: .tooLarge, url: url, text: "more than \(plan.limit) bytes")
        }
        return emit(UnsafeRawBufferPointer(rebasing: rest)) && !isSatisfied
    }

    func finish() throws(LoadingError) {
        if !isSatisfied { try decoder?.finish() }
        if let count = plan.count, UInt64(decodedByteCount) < count {
            throw LoadingError(
                code: .badRange, url: url,
                text: "the body ended after \(decodedByteCount) of \(count) bytes from byte \(plan.skip) on")
        }
        guard decodedByteCount > 0 else {
            throw LoadingError(code: .emptyBody, url: url, text: "0 bytes")
        }
    }
}
