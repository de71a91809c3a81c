/// A part of a resource: `length` bytes from `offset`, whose sum fits an `Int`.
public struct ByteRange: Sendable, Hashable {
    /// The offset of the first byte from the start of the resource.
    public var offset: Int
    /// The number of bytes.
    public var length: Int

    /// Creates the range of `length` bytes that begins at `offset`.
    public init(offset: Int, length: Int) {
        self.offset = offset
        self.length = length
    }

    /// The first byte after the range.
    ///
    /// It is `Int.max` if the sum overflows, which is possible only in a range created in code.
    public var end: Int {
        let (end, overflow) = offset.addingReportingOverflow(length)
        return overflow ? .max : end
    }

    var text: String { "\(length)@\(offset)" }
}
