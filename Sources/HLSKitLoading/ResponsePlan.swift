/// What to do with a response once its header is known.
package enum ResponsePlan: Sendable {
    /// Ask again at the `Location` given.
    case redirect(to: String)
    case fail(LoadingError)
    case body(BodyPlan)

    /// Decides from the header.
    ///
    /// - Parameters:
    ///   - head: A complete header.
    ///   - url: The URL that answered.
    ///   - now: Seconds since 1970, for a `Retry-After` that is a date.
    package init(_ head: ResponseHead, for request: TransportRequest, at url: String, now: Int64) {
        func fail(_ code: LoadingError.Code, _ text: String) -> ResponsePlan {
            .fail(LoadingError(code: code, url: url, status: head.status, text: text))
        }
        switch head.status {
        case 200, 201, 202, 203, 206:
            break
        case 204, 205:
            self = fail(.emptyBody, "HTTP \(head.status): no body")
            return
        case 301, 302, 303, 307, 308:
            if let location = head.value(of: "Location"), !location.isEmpty {
                self = .redirect(to: location)
            } else {
                self = fail(.httpStatus, "HTTP \(head.status) without Location")
            }
            return
        default:
            var error = LoadingError(code: .httpStatus, url: url, status: head.status, text: "HTTP \(head.status)")
            error.retryAfter = head.value(of: "Retry-After").flatMap {
                RetryAfter.delay($0, date: head.value(of: "Date"), now: now)
            }
            self = .fail(error)
            return
        }

        let codings = head.members(of: "Content-Encoding").flatMap { ContentCoding.names(in: $0) }
        let known = codings.compactMap { ContentCoding(name: $0) }
        guard known.count == codings.count, known.count <= ContentCoding.maximumLayerCount else {
            self = fail(.badContentEncoding, "content coding \"\(codings.joined(separator: ", "))\" is not supported")
            return
        }
        var plan = BodyPlan(codings: known, limit: request.maximumByteCount)
        if let range = request.byteRange {
            if !range.isOpenEnded { plan.count = range.upperBound - range.lowerBound }
            if head.status != 206 { plan.skip = range.lowerBound }
        }
        if head.status == 206, let text = head.rangeFault(for: request.byteRange) {
            self = fail(.badRange, text)
            return
        }
        if known.isEmpty, let length = head.contentLength {
            let needed = plan.skip.addingReportingOverflow(plan.count ?? 0)
            if let count = plan.count, needed.overflow || UInt64(length) < needed.partialValue {
                self = fail(
                    .badRange, "the body has \(length) bytes, \(count) from byte \(plan.skip) on were requested")
                return
            }
            // An open range is known by its first byte.
            if plan.count == nil, plan.skip > 0, UInt64(length) <= plan.skip {
                self = fail(.badRange, "the body has \(length) bytes, those from byte \(plan.skip) on were requested")
                return
            }
            let delivered = plan.count ?? UInt64(length) - plan.skip
            if delivered > UInt64(max(0, plan.limit)) {
                self = fail(.tooLarge, "\(delivered) bytes, the limit is \(plan.limit)")
                return
            }
        }
        self = .body(plan)
    }
}

/// How to make the resource of a body.
package struct BodyPlan: Sendable, Hashable {
    /// In the order in which they were applied.
    package var codings: [ContentCoding] = []
    /// Decoded bytes to drop before the first that is wanted.
    package var skip: UInt64 = 0
    /// Decoded bytes that are wanted; nil means all.
    package var count: UInt64?
    /// Decoded bytes that are accepted.
    package var limit: Int
}

/// The `Content-Range` field (RFC 9110 §14.4).
package struct ContentRange: Sendable, Hashable, CustomStringConvertible {
    var bytes: Range<UInt64>
    package var total: UInt64?

    package init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/")
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-")
        guard ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last, last < UInt64.max
        else { return nil }
        bytes = first..<(last + 1)
        guard parts[1] != "*" else { return }
        guard let total = UInt64(parts[1]), total > last else { return nil }
        self.total = total
    }

    /// Whether it is what was asked for. One that is open at its end may have grown meanwhile.
    ///
    /// - Parameter length: of the body; nil if unknown. Of a whole whose size is not told, it tells nothing else.
    func isAnswer(to wanted: Range<UInt64>?, length: Int?) -> Bool {
        guard let wanted else {
            guard let total else {
                return bytes.lowerBound == 0 && length.map { UInt64($0) == bytes.upperBound } ?? true
            }
            return bytes == 0..<total
        }
        return wanted.isOpenEnded ? bytes.lowerBound == wanted.lowerBound : bytes == wanted
    }

    package var description: String { "\(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total.map { "\($0)" } ?? "*")" }
}

extension ResponseHead {
    /// Why the body of a 206 is not what was asked for; nil where it is. What was asked for as a whole needs no `Content-Range`
    /// for that.
    fileprivate func rangeFault(for wanted: Range<UInt64>?) -> String? {
        guard let range = ContentRange(value(of: "Content-Range") ?? "") else {
            let isParts = members(of: "Content-Type").contains { $0.hasPrefix("multipart/") }
            return wanted == nil && !isParts ? nil : "HTTP 206 without a usable Content-Range"
        }
        if range.isAnswer(to: wanted, length: contentLength) { return nil }
        return "requested bytes \(wanted?.headerText ?? "the whole"), got \(range)"
    }
}
