import Testing

@testable import HLSKitMedia

@Suite struct EnhancedAC3ExtensionTests {
    /// 448 kbit/s, 3/2 channels with LFE: alone, with a dependent substream, and with two independent substreams.
    private static let bases: [[UInt8]] = [
        [0x0E, 0x00, 0x20, 0x0F, 0x00], [0x0E, 0x00, 0x20, 0x0F, 0x02, 0x01],
        [0x0E, 0x01, 0x20, 0x0F, 0x00, 0x20, 0x04, 0x00],
    ]
    private static let bitRate = BoxWriter.box("btrt", BoxWriter.zeros(12))

    @Test("the extension follows the substreams", arguments: bases)
    func parse(_ base: [UInt8]) {
        #expect(EnhancedAC3Extension(parsing: base[...]) == nil)
        #expect(EnhancedAC3Extension(parsing: (base + [0, 0])[...]) == nil)
        #expect(EnhancedAC3Extension(parsing: (base + [1])[...]) == nil)
        let found = EnhancedAC3Extension(parsing: ([9] + base + [1, 16])[1...])
        #expect(found == EnhancedAC3Extension(complexityIndex: 16, bitRate: 448_000))
        for count in base.indices { #expect(EnhancedAC3Extension(parsing: base.prefix(count)) == nil) }
    }

    @Test("a box gets an extension from the room of the next box", arguments: bases)
    func add(_ base: [UInt8]) {
        let box = BoxWriter.box("dec3", base)
        var bytes = [1, 2, 3] + box + Self.bitRate + box + Self.bitRate + [4, 5]
        let count = bytes.count
        let added = EnhancedAC3Extension(complexityIndex: 11, bitRate: 1)
        #expect(EnhancedAC3Extension.add([nil, added], to: &bytes) == 2)
        let extended = BoxWriter.box("dec3", base + [1, 11]) + BoxWriter.box("free", BoxWriter.zeros(10))
        #expect(bytes == [1, 2, 3] + box + Self.bitRate + extended + [4, 5])
        #expect(bytes.count == count)
        let before = bytes
        #expect(EnhancedAC3Extension.add([nil, added], to: &bytes) == 2 && bytes == before)
    }

    @Test("bytes without room, or that only look like a box, are not changed")
    func unchanged() {
        let added = EnhancedAC3Extension(complexityIndex: 11, bitRate: 1)
        let box = BoxWriter.box("dec3", Self.bases[0])
        for bytes in [
            box, box + Self.bitRate.dropLast(), box + BoxWriter.box("free", BoxWriter.zeros(12)),
            BoxWriter.box("dec3", Self.bases[0] + [1, 3]) + Self.bitRate, Array("dec3".utf8),
            [0xFF, 0xFF, 0xFF, 0xFF] + Array("dec3".utf8) + BoxWriter.zeros(40), [],
        ] {
            var changed = bytes
            _ = EnhancedAC3Extension.add([added], to: &changed)
            #expect(changed == bytes)
        }
    }
}
