import HLSGetKit
import Testing

@testable import HLSGetWatch

@Suite("Window events")
struct WindowEventTests {
    /// Returns an event in SDL 2's layout: the type, then values at the given offsets.
    private func bytes(_ type: UInt32, _ integers: [Int: Int32] = [:], bytes single: [Int: UInt8] = [:]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: WindowEvent.byteCount)
        func put(_ value: UInt32, _ offset: Int) {
            for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
        }
        put(type, 0)
        for (offset, value) in integers { put(UInt32(bitPattern: value), offset) }
        for (offset, value) in single { bytes[offset] = value }
        return bytes
    }

    private func event(_ bytes: [UInt8]) -> WindowEvent? { bytes.withUnsafeBytes { WindowEvent($0) } }

    @Test("events are read from SDL's memory layout")
    func layout() {
        #expect(event(bytes(0x100)) == .quit)
        #expect(event(bytes(0x200, bytes: [12: 14])) == .quit)
        #expect(event(bytes(0x200, [16: 640, 20: 480], bytes: [12: 6])) == .changed)
        #expect(event(bytes(0x200, bytes: [12: 11])) == .pointerLeft)
        #expect(event(bytes(0x200, bytes: [12: 12])) == nil)
        #expect(event(bytes(0x300, [20: 0x4000_004F])) == .key(.right))
        #expect(event(bytes(0x300, [20: 27])) == .key(.escape))
        #expect(event(bytes(0x300, [20: 97])) == nil)
        #expect(event(bytes(0x303, bytes: [12: 0xC3, 13: 0xA4])) == .text("ä"))
        #expect(event(bytes(0x303)) == nil)
        #expect(event(bytes(0x400, [20: 12, 24: 700])) == .pointer(x: 12, y: 700))
        #expect(event(bytes(0x401, [20: 5, 24: 6], bytes: [16: 1, 18: 2])) == .press(x: 5, y: 6, clicks: 2))
        #expect(event(bytes(0x401, [20: 5, 24: 6], bytes: [16: 3, 18: 1])) == nil)
        #expect(event(bytes(0x402, bytes: [16: 1])) == .release)
        #expect(event(bytes(0x403, [20: -2])) == .wheel(-2))
        #expect(event(bytes(0x2001)) == .texturesLost)
        #expect(event(bytes(0x700)) == nil)
        #expect(event([0, 1, 0, 0]) == nil)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var event: WindowEvent
        var command: WindowCommand?
        var testDescription: String { "\(event)" }
        init(_ event: WindowEvent, _ command: WindowCommand?) { (self.event, self.command) = (event, command) }
    }

    @Test(
        "T02: keys do the same as in the terminal, plus window commands",
        arguments: [
            Case(.text(" "), .player(.togglePause)), Case(.text("p"), .player(.togglePause)),
            Case(.key(.left), .player(.seek(seconds: -10))), Case(.key(.up), .player(.seek(seconds: 60))),
            Case(.text("["), .player(.changeRate(-1))), Case(.text("s"), .player(.nextSubtitles)),
            Case(.text("a"), .player(.nextAudio)), Case(.text("m"), .player(.toggleMute)),
            Case(.text("v"), .player(.changeQuality(-1))), Case(.text("V"), .player(.changeQuality(1))),
            Case(.text("."), .player(.stepFrame(1))), Case(.text(","), .player(.stepFrame(-1))),
            Case(.text("S"), .player(.takeScreenshot)), Case(.text("l"), .player(.markLoop)),
            Case(.text("0"), .player(.changeVolume(1))), Case(.text("q"), .player(.quit)),
            Case(.text("?"), .player(.showHelp)), Case(.quit, .player(.quit)),
            Case(.text("f"), .toggleFullscreen), Case(.key(.f11), .toggleFullscreen),
            Case(.key(.escape), .leaveFullscreen), Case(.text("o"), .toggleText),
            Case(.wheel(3), .player(.changeVolume(1))), Case(.wheel(-1), .player(.changeVolume(-1))),
            Case(.wheel(0), nil), Case(.text("x"), nil), Case(.text("qq"), nil), Case(.pointerLeft, nil),
        ])
    func commands(_ test: Case) { #expect(WindowCommand(test.event) == test.command) }
}
