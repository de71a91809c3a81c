import HLSKitTime
import Testing

@Suite("Text of numbers and bytes")
struct DigitsTests {
    @Test("numbers are padded with zeros after their sign")
    func padding() {
        #expect([0, 7, 123, -5].map { $0.digits(2) } == ["00", "07", "123", "-05"])
        #expect(UInt8(10).hexadecimal(2) == "0a" && UInt16.max.hexadecimal(2, uppercase: true) == "FFFF")
        #expect([0, 5, 120].map { $0.decimals(3) } == ["", "005", "12"])
        #expect([0, 5, 120].map { $0.decimals(3, atLeast: 2) } == ["00", "005", "12"])
        #expect([0x00, 0x0A, 0xFF].hexadecimalText == "000aff")
        #expect("09afAF".utf8.map(\.hexadecimalValue) == [0, 9, 10, 15, 10, 15])
        #expect("/:@G`g".utf8.allSatisfy { $0.hexadecimalValue == nil })
    }

    @Test(
        "durations are written without rounding",
        arguments: [
            (.zero, "0", "0.0"), (.seconds(10), "10", "10.0"), (.milliseconds(6006), "6.006", "6.0"),
            (.milliseconds(-12_990), "-12.99", "-12.9"), (.milliseconds(-1), "-0.001", "0.0"),
            (Duration(secondsComponent: 1, attosecondsComponent: 1), "1.000000000000000001", "1.0"),
        ] as [(Duration, String, String)])
    func durations(duration: Duration, exact: String, short: String) {
        #expect(duration.decimalText() == exact)
        #expect(duration.decimalText(1, atLeast: 1) == short)
    }

    @Test("whole units are rounded towards zero and clamped")
    func units() {
        #expect(
            Duration.nanoseconds(-1999).wholeMicroseconds == -1 && Duration.seconds(2).wholeNanoseconds == 2_000_000_000
        )
        #expect(
            Duration.seconds(1 << 40).wholeNanoseconds == .max && Duration.seconds(-1 << 40).wholeNanoseconds == .min)
    }

    @Test(
        "Base64 matches RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{ff}?>", "w78/Pg=="),
        ])
    func base64(text: String, encoded: String) {
        #expect(Base64.encoded(Array(text.utf8)) == encoded)
        #expect(Base64.decoded(Array(encoded.utf8)) == Array(text.utf8))
        #expect(Base64.decoded(encoded.utf8.filter { $0 != UInt8(ascii: "=") }) == Array(text.utf8))
    }

    @Test(
        "Base64 with other characters or an impossible length is rejected", arguments: ["Zg-_", "Z", "Zm9vY", "Z g="])
    func damaged(text: String) {
        #expect(Base64.decoded(Array(text.utf8)) == nil)
    }
}
