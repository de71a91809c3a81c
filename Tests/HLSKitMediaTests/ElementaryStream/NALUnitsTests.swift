import HLSKitTime
import Testing

@testable import HLSKitMedia

@Suite struct NALUnitsTests {
    @Test("only start codes are found, at any position")
    func startCodes() {
        var generator = SplitMix64(seed: 5)
        for _ in 0..<2000 {
            // Mostly zeros and ones, so that all near misses of a start code occur.
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8([0, 0, 0, 1, 1, 2, 255].randomElement(using: &generator) ?? 0)
            }
            let expected = bytes.indices.dropLast(2).filter {
                bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1
            }
            var found: [Int] = []
            bytes.withUnsafeBytes { buffer in
                var at = 0
                while let code = NALUnits.startCode(in: buffer, from: at) {
                    found.append(code)
                    at = code + 1
                }
            }
            #expect(found == Array(expected))
        }
    }

    @Test("emulation prevention is undone")
    func rawPayload() {
        #expect(NALUnits.rawPayload(of: [0, 0, 3, 1, 0, 0, 3, 0, 0, 3]) == [0, 0, 1, 0, 0, 0, 0])
        #expect(NALUnits.rawPayload(of: [0, 3, 0, 0, 0, 3, 3]) == [0, 3, 0, 0, 0, 3])
    }

    @Test("Exp-Golomb numbers are read, and the end is detected")
    func expGolomb() {
        var reader = BitReader([0b1_010_011_0, 0b0100_0010, 0b1_0000000])
        #expect((0..<5).map { _ in reader.unsignedExpGolomb() } == [0, 1, 2, 3, 4])
        #expect(!reader.isExhausted)
        #expect(reader.unsignedExpGolomb() == 0)
        #expect(reader.isExhausted)
        var signed = BitReader([0b1_010_011_0, 0b0100_0010, 0b1_0000000])
        #expect((0..<5).map { _ in signed.signedExpGolomb() } == [0, 1, -1, 2, -2])
        var wide = BitReader([0, 0, 0, 0, 0, 0, 0, 0, 0xff])
        #expect(wide.unsignedExpGolomb() == 0 && wide.isExhausted)
    }

    @Test("SEI messages are listed, even with wrong sizes")
    func messages() {
        #expect(NALUnits.messageTypes(inSEI: [6, 1, 0xc4, 0x80]) == [6])
        #expect(NALUnits.messageTypes(inSEI: [0xff, 1, 2, 9, 9, 6, 1, 1, 0x80]) == [256, 6])
        #expect(NALUnits.messageTypes(inSEI: [5, 200, 1, 0x80]) == [5])
        #expect(NALUnits.messageTypes(inSEI: []) == [])
        #expect(NALUnits.messageTypes(inSEI: [0xff, 0xff]) == [])
    }
}
