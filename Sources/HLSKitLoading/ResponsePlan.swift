/// The action for a response whose header is known.
package enum ResponsePlan: Sendable {
    /// Send the request to this `Location`.
    case redirect(to: String)
    case fail(LoadingError)
    case body(BodyPlan)

    /// - Parameter now: The time in seconds since 1970, for a `Retry-After` date.
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
        if head.status == 206, let count = plan.count, known.isEmpty {
            let range = ContentRange(head.value(of: "Content-Range") ?? "")
            if let length = head.contentLength, length > count, range?.total == UInt64(length) {
                // Some servers send the whole resource with the field of the range.
                plan.skip = range?.bytes.lowerBound ?? 0
            } else {
                plan.isExact = true
            }
        }
        if known.isEmpty, let length = head.contentLength {
            let needed = plan.skip.addingReportingOverflow(plan.count ?? 0)
            if let count = plan.count, needed.overflow || UInt64(length) < needed.partialValue {
                self = fail(
                    .badRange, "the body has \(length) bytes, \(count) from byte \(plan.skip) on were requested")
                return
            }
            // An open range is identified by its first byte.
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

package struct BodyPlan: Sendable, Hashable {
    /// In the order in which they were applied.
    package var codings: [ContentCoding] = []
    /// The number of decoded bytes to drop at the beginning.
    package var skip: UInt64 = 0
    /// The number of decoded bytes to keep, or nil for all.
    package var count: UInt64?
    /// Whether the body must not be longer than ``count``.
    package var isExact = false
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

    /// Whether the range is the requested one. An open range may have grown since the request.
    ///
    /// - Parameter length: The length of the body, or nil if it is unknown. It verifies a response for the whole
    ///   resource if the total size is unknown.
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
    /// Returns the reason why the body of a 206 response is not the requested one, or nil if it is. A request for the
    /// whole resource does not need a `Content-Range`.
    fileprivate func rangeFault(for wanted: Range<UInt64>?) -> String? {
        guard let range = ContentRange(value(of: "Content-Range") ?? "") else {
            let isParts = members(of: "Content-Type").contains { $0.hasPrefix("multipart/") }
            return wanted == nil && !isParts ? nil : "HTTP 206 without a usable Content-Range"
        }
        if range.isAnswer(to: wanted, length: contentLength) { return nil }
        return "requested bytes \(wanted?.headerText ?? "the whole"), got \(range)"
    }
}
