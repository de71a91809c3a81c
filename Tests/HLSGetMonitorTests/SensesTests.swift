import Testing

@testable import HLSGetMonitor

@Suite("Detection of black, frozen and silent")
struct SensesTests {
    private static let width = 320
    private static let height = 180

    private static func grid(
        layout: SampleLayout = SampleLayout(), isFull: Bool = false, _ luma: (Int, Int) -> Int
    ) -> LumaGrid? {
        let row = (width + 64) * layout.byteCount
        var bytes = [UInt8](repeating: 0xFF, count: row * height)
        for y in 0..<height {
            for x in 0..<width {
                let value = luma(x, y) << layout.shift
                bytes[y * row + x * layout.byteCount] = UInt8(value & 0xFF)
                if layout.byteCount == 2 { bytes[y * row + x * 2 + 1] = UInt8(value >> 8) }
            }
        }
        return bytes.withUnsafeBytes {
            LumaGrid($0, bytesPerRow: row, width: width, height: height, layout: layout, isFullRange: isFull)
        }
    }

    @Test(
        "dark pixels are counted in each depth and range",
        arguments: ["yuv420p", "nv12", "yuv420p10le", "p010le", "yuv444p12le", "gray", "yuvj420p"])
    func dark(format: String) throws {
        let layout = try #require(SampleLayout(pixelFormat: format))
        #expect(Self.grid(layout: layout) { _, _ in 16 }?.darkShare == 1)
        #expect(Self.grid(layout: layout) { _, _ in 120 }?.darkShare == 0)
        let corner = Self.grid(layout: layout) { x, y in x < 160 && y < 90 ? 200 : 20 }
        #expect(corner.map { abs($0.darkShare - 0.75) < 0.01 } == true)
        #expect(corner?.cells.first == 200 && corner?.cells.last == 20)
        #expect(Self.grid(layout: layout, isFull: true) { _, _ in 30 }?.darkShare == 0)
        #expect(Self.grid(layout: layout, isFull: false) { _, _ in 30 }?.darkShare == 1)
    }

    @Test(
        "formats without luma and short buffers are ignored", arguments: ["rgb24", "bgra", "yuv420p10be", "pal8", ""])
    func others(format: String) {
        #expect(SampleLayout(pixelFormat: format) == nil)
        let bytes = [UInt8](repeating: 0, count: 1000)
        bytes.withUnsafeBytes {
            #expect(LumaGrid($0, bytesPerRow: 320, width: 320, height: 180) == nil)
            #expect(LumaGrid($0, bytesPerRow: 8, width: 8, height: 8) == nil)
            #expect(LumaGrid($0, bytesPerRow: 10, width: 32, height: 18) == nil)
        }
    }

    @Test("black for five seconds is detected, unless there is a logo in a corner")
    func black() throws {
        var probe = FrameProbe()
        #expect(probe.isBlack == nil)
        let dark = try #require(Self.grid { x, y in 16 + (x + y) % 3 })
        for second in 0...4 { probe.note(dark, at: .seconds(second)) }
        #expect(probe.isBlack == false)
        for second in 5...40 { probe.note(dark, at: .seconds(second)) }
        #expect(probe.isBlack == true)
        #expect(probe.isFrozen == false)
        let logo = try #require(Self.grid { x, y in x < 60 && y < 40 ? 180 : 16 })
        probe.note(logo, at: .seconds(41))
        #expect(probe.isBlack == false)
    }

    @Test("a still image counts as frozen despite coding noise; slow movement does not")
    func frozen() throws {
        var probe = FrameProbe()
        for second in 0...30 {
            probe.note(Self.grid { x, y in 100 + ((x + 7 * y + second) % 100 == 0 ? 1 : 0) }, at: .seconds(second))
            #expect(probe.isFrozen == (second >= 15), "\(second)")
        }
        probe.note(Self.grid { x, y in x % 200 }, at: .seconds(31))
        #expect(probe.isFrozen == false)
        var slow = FrameProbe()
        for second in 0...60 {
            // Luma grows by a third of a step each second, so neighboring frames differ only slightly.
            slow.note(Self.grid { _, _ in 60 + second / 3 }, at: .seconds(second))
        }
        #expect(slow.isFrozen == false)
    }

    @Test("without a new frame the last one counts as still")
    func missing() {
        var probe = FrameProbe()
        probe.note(nil, at: .seconds(1))
        #expect(probe.isFrozen == nil)
        probe.note(Self.grid { x, _ in x % 200 }, at: .seconds(2))
        for second in 3...17 { probe.note(nil, at: .seconds(second)) }
        #expect(probe.isFrozen == true)
    }

    @Test("ten seconds below -60 dB count as silence")
    func silence() {
        var probe = SilenceProbe()
        func tone(_ peak: Float) -> [Float] { (0..<1024).map { $0.isMultiple(of: 2) ? peak : -peak } }
        #expect(probe.isSilent == nil)
        for second in 0..<10 { probe.note(tone(0.0005), at: .seconds(second)) }
        #expect(probe.isSilent == false)
        probe.note(tone(0.0005), at: .seconds(10))
        #expect(probe.isSilent == true)
        probe.note(tone(0.01), at: .seconds(11))
        #expect(probe.isSilent == false)
        probe.note([.nan, .nan], at: .seconds(2))
        probe.note([], at: .seconds(3))
        #expect(probe.isSilent == false)
    }
}
