import HLSKitMedia
import Testing

@testable import HLSKitEngine

@Suite("I04: Suspending and resuming disabled frames")
struct TrackSwitchesTests {
    typealias Facts = TrackSwitches.Facts
    typealias Step = TrackSwitches.Step

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var disabled: Set<MediaKind> = []
        var facts = Facts()
        var step: Step?

        init(_ words: String, off disabled: Set<MediaKind> = [], _ facts: Facts, _ step: Step?) {
            testDescription = words
            self.disabled = disabled
            self.facts = facts
            self.step = step
        }
    }

    static let cases = [
        Case("nothing is off", Facts(hasSeparateAudio: true), nil),
        Case("frames are off, audio is apart", off: [.video], Facts(hasSeparateAudio: true), .rest),
        Case("frames are off, audio is among them", off: [.video], Facts(), nil),
        Case("all is off: something has to tell the time", off: [.video, .audio], Facts(hasSeparateAudio: true), nil),
        Case("audio is off", off: [.audio], Facts(hasSeparateAudio: true), nil),
        Case("they rest", off: [.video], Facts(frames: .idle, hasSeparateAudio: true), nil),
        Case("they are on again", Facts(frames: .idle, hasSeparateAudio: true), .join),
        Case("the audio went", off: [.video], Facts(frames: .idle), .join),
        Case("audio was switched off too", off: [.video, .audio], Facts(frames: .idle), .join),
        Case(
            "nothing of them is there yet",
            Facts(frames: .joining, hasSeparateAudio: true, framesAhead: .zero, audioAhead: .seconds(30)), nil),
        Case(
            "as much as of the audio",
            Facts(frames: .joining, hasSeparateAudio: true, framesAhead: .seconds(4), audioAhead: .seconds(4)),
            .require),
        Case(
            "enough",
            Facts(frames: .joining, hasSeparateAudio: true, framesAhead: .seconds(10), audioAhead: .seconds(30)),
            .require),
        Case(
            "all of them", Facts(frames: .joining, areFramesComplete: true, hasSeparateAudio: true), .require),
        Case(
            "nothing is beside them", Facts(frames: .joining, framesAhead: .zero, audioAhead: .zero), .require),
        Case("off again", off: [.video], Facts(frames: .joining, hasSeparateAudio: true), .rest),
    ]

    @Test("disabled frames are suspended and resumed in steps", arguments: cases)
    func steps(_ test: Case) {
        var switches = TrackSwitches()
        for type in test.disabled { switches.set(type, isEnabled: false) }
        #expect(switches.step(test.facts) == test.step)
    }

    @Test("an enabled track is no longer listed as disabled")
    func onAndOff() {
        var switches = TrackSwitches()
        switches.set(.audio, isEnabled: false)
        switches.set(.text, isEnabled: false)
        switches.set(.audio, isEnabled: true)
        #expect(switches.disabled == [.text])
        #expect(switches.isEnabled(.audio) && !switches.isEnabled(.text))
    }
}
