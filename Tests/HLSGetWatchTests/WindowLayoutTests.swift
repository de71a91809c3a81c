import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetWatch

@Suite("Window layout")
struct WindowLayoutTests {
    private func layout(_ width: Int, _ height: Int) -> WindowLayout {
        WindowLayout(size: PixelSize(width: width, height: height))
    }

    struct Fit: CustomTestStringConvertible, Sendable {
        var window: (Int, Int)
        var frame: (Int, Int)
        var rect: WindowRect
        var testDescription: String { "\(frame) in \(window)" }
    }

    @Test(
        "a frame is as large as fits, centred, in its shape",
        arguments: [
            Fit(window: (1280, 720), frame: (1920, 1080), rect: WindowRect(x: 0, y: 0, width: 1280, height: 720)),
            Fit(window: (1280, 720), frame: (640, 480), rect: WindowRect(x: 160, y: 0, width: 960, height: 720)),
            Fit(window: (800, 800), frame: (1920, 1080), rect: WindowRect(x: 0, y: 175, width: 800, height: 450)),
            Fit(window: (400, 300), frame: (1080, 1920), rect: WindowRect(x: 115, y: 0, width: 169, height: 300)),
            Fit(window: (3, 2), frame: (16000, 9000), rect: WindowRect(x: 0, y: 0, width: 3, height: 2)),
            Fit(window: (100, 100), frame: (0, 0), rect: WindowRect(x: 0, y: 0, width: 100, height: 100)),
            Fit(window: (100, 100), frame: (100_000, 1), rect: WindowRect(x: 0, y: 49, width: 100, height: 1)),
        ])
    func video(_ fit: Fit) {
        let frame = PixelSize(width: fit.frame.0, height: fit.frame.1)
        #expect(layout(fit.window.0, fit.window.1).video(frame) == fit.rect)
    }

    @Test("a frame turned by a quarter fills its rectangle after rotation around its centre")
    func turned() {
        let shown = WindowRect(x: 440, y: 0, width: 404, height: 720)
        let turned = WindowLayout.unturned(shown, rotation: 90)
        #expect(turned == WindowRect(x: 282, y: 158, width: 720, height: 404))
        #expect(WindowLayout.unturned(turned, rotation: 270) == shown)
        for rotation in [0, 180] { #expect(WindowLayout.unturned(shown, rotation: rotation) == shown) }
    }

    @Test(
        "a column of the bar is a time, and positions past its ends are clamped",
        arguments: [(320, 240), (1280, 720), (3840, 2160)])
    func fractions(_ width: Int, _ height: Int) {
        let layout = layout(width, height)
        let bar = layout.bar
        #expect(layout.fraction(atX: -50) == 0 && layout.fraction(atX: width + 50) == 1)
        #expect(abs(layout.fraction(atX: Int(bar.x) + Int(bar.width) / 2) - 0.5) < 0.01)
        var last = -1.0
        for x in 0..<width {
            #expect(layout.fraction(atX: x) >= last)
            last = layout.fraction(atX: x)
        }
    }

    @Test("the bar reacts to clicks near it, but not to clicks in the window's centre")
    func target() {
        let layout = layout(1280, 720)
        let (bar, target) = (layout.bar, layout.barTarget)
        #expect(target.contains(x: Int(bar.x) + 5, y: Int(bar.y) - 10))
        #expect(target.contains(x: Int(bar.x) + Int(bar.width), y: Int(bar.y) + Int(bar.height) + 10))
        #expect(!target.contains(x: 640, y: 360))
        #expect(Int(bar.y) + Int(bar.height) <= 720)
    }

    @Test("parts of the timeline map to parts of the bar")
    func parts() {
        let layout = layout(1248, 720)
        #expect(layout.bar.width == 1200)
        #expect(layout.barPart(30..<60, of: 0..<120) == WindowRect(x: 324, y: 692, width: 300, height: 8))
        #expect(layout.barPart(-10..<200, of: 0..<120)?.width == 1200)
        #expect(layout.barPart(200..<300, of: 0..<120) == nil)
        #expect(layout.barPart(5..<5.01, of: 0..<120) == nil)
        #expect(layout.barPart(0..<1, of: 3..<3) == nil)
    }

    @Test("a thumbnail stays inside the window", arguments: [0, 3, 600, 1279, 5000, -20])
    func thumbnail(x: Int) {
        let rect = layout(1280, 720).thumbnail(PixelSize(width: 208, height: 117), aboveX: x)
        #expect(rect.x >= 0 && Int(rect.x) + Int(rect.width) <= 1280)
        #expect(Int(rect.y) + Int(rect.height) < Int(layout(1280, 720).bar.y))
    }

    @Test("the bar shows loaded ranges, played time and the pointer position")
    func bar() {
        let state = PlayerState.sample(.playing, at: 298, loadedUntil: 400)
        let layout = layout(1248, 720)
        let parts = WindowBar(state, timeline: StatusLine.timeline(of: state), layout, pointedX: 100).parts
        #expect(parts.map(\.color) == [.ground, .loaded, .played, .playhead, .pointer])
        #expect(parts[1].rect.width == 805 && parts[2].rect.width == 600)
        #expect(parts[3].rect == WindowRect(x: 623, y: 689, width: 3, height: 14))
        let nothing = WindowBar(PlayerState(), timeline: 0..<1, layout, pointedX: nil)
        #expect(nothing.parts.map(\.color) == [.ground, .playhead])
    }
}
