import Testing

@testable import HLSKitMedia

@Suite("Top-level boxes of a segment")
struct MP4BoxWalkTests {
    private static func box(_ payload: Int, size: [UInt8]? = nil) -> [UInt8] {
        (size ?? [0, 0, 0, UInt8(8 + payload)]) + Array("mdat".utf8) + [UInt8](repeating: 7, count: payload)
    }

    private static let long: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 20, 1, 2, 3, 4]
    private static let whole: [[UInt8]] = [
        [], box(0), box(9), box(9) + box(4), long,
        // A box to the end of the file, impossible sizes, and bytes that are no box.
        box(9, size: [0, 0, 0, 0]), box(9, size: [0, 0, 0, 5]), box(9) + [1, 2, 3],
    ]
    private static let truncated: [[UInt8]] = [
        Array(box(9).dropLast()), box(3) + Array(box(9).prefix(8)), Array(long.dropLast(4)),
    ]

    @Test("a segment is truncated if a box is larger than its rest", arguments: whole + truncated, [1, 3, 1000])
    func walk(bytes: [UInt8], piece: Int) {
        var walk = MP4BoxWalk()
        for start in stride(from: 0, to: bytes.count, by: piece) {
            walk.append(Array(bytes[start..<min(start + piece, bytes.count)]))
        }
        #expect(walk.isTruncated == Self.truncated.contains(bytes))
    }
}
