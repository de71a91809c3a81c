import Glibc
import HLSKitTime

/// Contents of a line other than plain ASCII. The reader examines only such lines in detail.
struct LineTraits: OptionSet {
    let rawValue: UInt8
    /// A control character other than tab.
    static let control = LineTraits(rawValue: 1)
    static let nonASCII = LineTraits(rawValue: 2)
    /// Possibly a `{`, as in `{$name}`.
    static let brace = LineTraits(rawValue: 4)
    static let tab = LineTraits(rawValue: 8)
}

extension Span where Element == UInt8 {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var highs: UInt64 { 0x8080_8080_8080_8080 }

    /// Eight bytes, the first in the lowest bits. `index + 8` must not exceed the end.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Finds the end of the line that continues at `start`: LF or CRLF only (rules 5 and 6).
    ///
    /// `next` is the start of the following line, or nil if there is no line feed yet. The search compares eight bytes
    /// at a time.
    @inline(__always)
    func lineEnd(from start: Int, traits: inout LineTraits) -> (end: Int, next: Int?) {
        var index = start
        var high: UInt64 = 0
        var brace: UInt64 = 0
        var result: (end: Int, next: Int?)?
        while result == nil, index &+ 8 <= count {
            let word = word(at: index)
            let low = (word &- 0x20 &* Self.ones) & ~word & Self.highs
            let flipped = word ^ (0x7B &* Self.ones)
            let braces = (flipped &- Self.ones) & ~flipped & Self.highs
            if low == 0 {
                high |= word
                brace |= braces
                index &+= 8
                continue
            }
            let bit = low.trailingZeroBitCount & ~7
            let before = (1 as UInt64) &<< UInt64(bit) &- 1
            high |= word & before
            brace |= braces & before
            let stop = index &+ bit &>> 3
            result = control(at: stop, lineStart: start, traits: &traits)
            index = stop &+ 1
        }
        while result == nil, index < count {
            let byte = self[index]
            if byte < 0x20 {
                result = control(at: index, lineStart: start, traits: &traits)
            } else if byte >= 0x80 {
                high |= Self.highs
            } else if byte == 0x7B {
                brace |= Self.highs
            }
            index &+= 1
        }
        if high & Self.highs != 0 { traits.insert(.nonASCII) }
        if brace != 0 { traits.insert(.brace) }
        return result ?? (count, nil)
    }

    @inline(__always)
    private func control(at index: Int, lineStart: Int, traits: inout LineTraits) -> (end: Int, next: Int?)? {
        let byte = self[index]
        if byte == 0x0A { return (index, index &+ 1) }
        if byte == 0x0D {
            if index &+ 1 < count {
                if self[index &+ 1] == 0x0A { return (index, index &+ 2) }
                traits.insert(.control)
            }
        } else {
            traits.insert(byte == 0x09 ? .tab : .control)
        }
        return nil
    }

    @inline(__always)
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower] == 0x20 || self[lower] == 0x09 { lower &+= 1 }
        while lower < upper, self[upper &- 1] == 0x20 || self[upper &- 1] == 0x09 { upper &-= 1 }
        return Range(uncheckedBounds: (lower, upper))
    }

    /// The range without white space and NUL characters at its ends. Files written from fixed-size buffers have NUL
    /// padding.
    func unpadded(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, Self.isPadding(self[lower]) { lower &+= 1 }
        while lower < upper, Self.isPadding(self[upper &- 1]) { upper &-= 1 }
        return Range(uncheckedBounds: (lower, upper))
    }

    private static func isPadding(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0 }

    /// The first index of `byte` in `range`. Compares eight bytes at a time, which may exceed the range.
    @inline(__always)
    func index(of byte: UInt8, in range: Range<Int>) -> Int? {
        index(of: byte, or: byte, in: range)
    }

    /// The first index of either byte in `range`. Compares eight bytes at a time, which may exceed the range.
    @inline(__always)
    func index(of byte: UInt8, or other: UInt8, in range: Range<Int>) -> Int? {
        var index = range.lowerBound
        let pattern = UInt64(byte) &* Self.ones
        let otherPattern = UInt64(other) &* Self.ones
        while index < range.upperBound, index &+ 8 <= count {
            let word = word(at: index)
            let flipped = word ^ pattern
            let otherFlipped = word ^ otherPattern
            let hits =
                ((flipped &- Self.ones) & ~flipped | (otherFlipped &- Self.ones) & ~otherFlipped) & Self.highs
            if hits != 0 {
                index &+= hits.trailingZeroBitCount &>> 3
                return index < range.upperBound ? index : nil
            }
            index &+= 8
        }
        while index < range.upperBound {
            if self[index] == byte || self[index] == other { return index }
            index &+= 1
        }
        return nil
    }

    @inline(__always)
    func equals(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return extracting(range).withUnsafeBytes { bytes in
            // The address is not nil because `text` is not empty and the range has the same length.
            guard let address = bytes.baseAddress else { return text.utf8CodeUnitCount == 0 }
            return memcmp(address, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }

    func equals(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        var (i, j) = (left.lowerBound, right.lowerBound)
        while i &+ 8 <= left.upperBound {
            guard word(at: i) == word(at: j) else { return false }
            i &+= 8
            j &+= 8
        }
        while i < left.upperBound {
            guard self[i] == self[j] else { return false }
            i &+= 1
            j &+= 1
        }
        return true
    }

    /// The bytes as text. Invalid UTF-8 becomes U+FFFD.
    @inline(__always)
    func string(_ range: Range<Int>) -> String {
        extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    func isUTF8(_ range: Range<Int>) -> Bool {
        (try? UTF8Span(validating: extracting(range))) != nil
    }
}

// MARK: - Numbers

/// An unsigned decimal number: whole part and fraction in 10⁻¹⁸.
struct DecimalNumber {
    var whole: UInt64
    var attos: UInt64
}

extension Span where Element == UInt8 {
    /// Reads at least one digit and nothing else. Returns nil for other text and for numbers above 2⁶⁴−1 (rule 10).
    @inline(__always)
    func unsignedInteger(in range: Range<Int>) -> UInt64? {
        guard !range.isEmpty else { return nil }
        var value: UInt64 = 0
        for index in range {
            let digit = self[index] &- 0x30
            guard digit < 10 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// Like ``unsignedInteger(in:)``, up to 2⁶³−1.
    @inline(__always)
    func integer(in range: Range<Int>) -> Int? {
        unsignedInteger(in: range).flatMap { Int(exactly: $0) }
    }

    /// Reads a decimal-floating-point at the start of `range`, and returns it with its end: `6`, `6.`, `.5`, `6.006`.
    /// Digits beyond the 18th decimal are dropped. Returns nil if there is no digit, or the integer part exceeds 2⁶⁴−1.
    /// There is no sign and no exponent.
    @inline(__always)
    func decimalPrefix(in range: Range<Int>) -> (value: DecimalNumber, end: Int)? {
        var index = range.lowerBound
        let end = range.upperBound
        var whole: UInt64 = 0
        var isNumber = false
        while index < end {
            let digit = self[index] &- 0x30
            guard digit < 10 else { break }
            // Eighteen digits cannot overflow.
            if index &- range.lowerBound < 18 {
                whole = whole &* 10 &+ UInt64(digit)
            } else {
                let (product, overflow) = whole.multipliedReportingOverflow(by: 10)
                let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
                guard !overflow, !carry else { return nil }
                whole = sum
            }
            isNumber = true
            index &+= 1
        }
        var attos: UInt64 = 0
        if index < end, self[index] == 0x2E {
            index &+= 1
            var unit: UInt64 = 100_000_000_000_000_000
            while index < end {
                let digit = self[index] &- 0x30
                guard digit < 10 else { break }
                attos &+= UInt64(digit) &* unit
                unit /= 10
                isNumber = true
                index &+= 1
            }
        }
        return isNumber ? (DecimalNumber(whole: whole, attos: attos), index) : nil
    }

    func decimal(in range: Range<Int>) -> DecimalNumber? {
        guard let (value, end) = decimalPrefix(in: range), end == range.upperBound else { return nil }
        return value
    }
}

extension Duration {
    /// Returns nil if the number exceeds the range of `Duration` in seconds (2⁶³).
    init?(_ number: DecimalNumber) {
        guard number.whole <= Int64.max else { return nil }
        self.init(seconds: number.whole, attos: number.attos)
    }

    /// `seconds` below 2⁶³ and `attos` below 10¹⁸. Unlike `init(secondsComponent:attosecondsComponent:)` it is inlined.
    @inline(__always)
    init(seconds: UInt64, attos: UInt64) {
        self.init(attoseconds: Int128(seconds) &* 1_000_000_000_000_000_000 &+ Int128(attos))
    }
}
