import Testing

@testable import HLSGetKit

@Suite("Keys during playback")
struct KeyTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var bytes: String
        var keys: [Key]
        var testDescription: String { bytes.debugDescription }
        init(_ bytes: String, _ keys: Key...) {
            self.bytes = bytes
            self.keys = keys
        }
    }

    @Test(
        "terminal bytes become keys, however they are split",
        arguments: [
            Case(" ", .character(" ")), Case("[]", .character("["), .character("]")),
            Case("\u{1B}[D\u{1B}[C", .left, .right), Case("\u{1B}OA\u{1B}OB", .up, .down),
            Case("\u{1B}[1;5C", .right), Case("\u{1B}[3~q", .character("q")),
            Case("\u{1B}\u{1B}[Aq", .up, .character("q")),
            Case("\u{1B}xq", .character("q")), Case("ä\n\u{7F}\u{3}s", .character("s")),
        ])
    func parse(_ test: Case) {
        var whole = KeyParser()
        #expect(whole.parse(test.bytes.utf8) == test.keys)
        var pieces = KeyParser()
        #expect(test.bytes.utf8.flatMap { pieces.parse([$0]) } == test.keys)
    }

    @Test("every key named in the help has a command")
    func commands() {
        for character in " []isavVnm90hq?.,lS>" { #expect(KeyCommand(.character(character)) != nil) }
        for key in [Key.left, .right, .up, .down] { #expect(KeyCommand(key) != nil) }
        #expect(KeyCommand(.character("x")) == nil)
    }

    @Test("a range repeats from the second press of the key to the third")
    func repeatedRange() {
        var range = RepeatedRange()
        #expect(range.restart(at: 5) == nil)
        #expect(range.mark(at: 10) == "repeat from 0:10: press l again at the end")
        #expect(range.restart(at: 12) == nil)
        #expect(range.mark(at: 8) == "repeat from 0:08: press l again at the end")
        #expect(range.mark(at: 20) == "repeat 0:08 to 0:20")
        #expect(range.restart(at: 19.9) == nil && range.restart(at: 20) == 8 && range.restart(at: 21.9) == 8)
        #expect(range.restart(at: 22) == nil && range.restart(at: 3) == nil)
        #expect(range.mark(at: 9) == "repetition ends")
        #expect(range.restart(at: 20) == nil)
        #expect(range.mark(at: .nan) == "nothing to repeat")
    }

    @Test(
        "rates step through a list and stay within it",
        arguments: [(1, Float(1), Float(1.25)), (-1, 1, 0.75), (1, 2, 2), (-1, 0.5, 0.5), (1, 0.9, 1), (-1, 3, 2)])
    func rates(_ step: Int, _ rate: Float, _ expected: Float) {
        #expect(KeyCommand.rate(step, from: rate) == expected)
    }
}
