/// A part of a resource: `length` bytes from `offset`. The sum of both fits an `Int`.
public struct ByteRange: Sendable, Hashable {
    /// The first byte; 0 is the start of the resource.
    public var offset: Int
    /// The number of bytes.
    public var length: Int

    /// Makes the range of `length` bytes that begins at `offset`.
    public init(offset: Int, length: Int) {
        self.offset = offset
        self.length = length
    }

    /// The first byte after the range; `Int.max` when the sum does not fit (only in a range made by hand).
    public var end: Int {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return overflow ? .max : end
    }

    /// `length@offset`, as in `EXT-X-BYTERANGE`.
    var text: String { "\(length)@\(offset)" }
}
