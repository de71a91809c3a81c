extension LowLatencyOrigin {
    /// Something that goes wrong for a time.
    package struct Fault: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// Held requests get no answer, until a deadline ends them.
            case neverAnswers
            /// Requests that ask to be held are answered at once with what there is.
            case doesNotHold
            /// Requests are held for as long as it takes: there is no 503 after three target durations.
            case holdsForever
            /// Every playlist is answered with this status.
            case status(Int, retryAfter: Int? = nil)
            /// A cache that does not know the query answers for playlists, with copies that are up to so old.
            case cache(lifetime: Duration)
            /// A cache that knows the query has copies for requests without one, which are up to so old.
            case plainCache(lifetime: Duration)
            case hint(HintFault)
            /// So many parts at the end of each segment are never listed, nor there.
            case dropsLastParts(Int)
            /// `PART-TARGET` is two thirds of what parts last.
            case understatesPartTarget
            /// No part says that it is independent.
            case hidesIndependence
            /// Media sequence numbers are other ones by so much.
            case renumbers(by: Int)
            /// Delta updates say that so many segments more are skipped.
            case skipsTooMany(Int)
            /// Delta updates are of a list that begins so many segments later.
            case skipsFromElsewhere(by: Int)
            /// Rendition reports are ahead by so many segments.
            case reportsAhead(by: Int)
            case omitsReports
            /// Nothing more is listed from the beginning of the fault on.
            case stops
            /// The encoder makes nothing, and goes on where it was.
            case pauses
            /// The connection is lost after so many bytes of a segment.
            case resets(after: Int)
        }

        /// What becomes of a hint.
        package enum HintFault: Sendable, Hashable {
            /// It is waited for in vain.
            case neverAppears
            /// What comes is the part after it.
            case otherBytes
            case notFoundUntilPublished
            /// What is named is not in the list after that: another plan was made. Then it is not found.
            case withdrawn
        }

        package var kind: Kind
        /// Until it is over nothing ends it but its end. Default: always.
        package var period: Range<Duration>
        /// The variant that has it; nil (the default) for all.
        package var variant: Int?

        package init(
            _ kind: Kind, during period: Range<Duration> = .zero..<Duration.seconds(1_000_000_000),
            of variant: Int? = nil
        ) {
            self.kind = kind
            self.period = period
            self.variant = variant
        }
    }

    /// What the first fault that holds says of something; nil where none does.
    func fault<Value>(at time: Duration, of variant: Int, _ value: (Fault.Kind) -> Value?) -> Value? {
        for fault in faults
        where fault.period.contains(max(.zero, time)) && fault.variant.map({ $0 == variant }) ?? true {
            if let value = value(fault.kind) { return value }
        }
        return nil
    }

    func has(_ kind: Fault.Kind, at time: Duration, of variant: Int) -> Bool {
        fault(at: time, of: variant) { $0 == kind ? true : nil } ?? false
    }

    /// When a variant lists nothing new any more.
    func stop(of variant: Int) -> Duration? {
        faults.filter { $0.kind == .stops && $0.variant.map { $0 == variant } ?? true }.map(\.period.lowerBound).min()
    }
}

extension LowLatencyOrigin.Fault.Kind {
    var hint: LowLatencyOrigin.Fault.HintFault? { if case .hint(let fault) = self { fault } else { nil } }
    var droppedPartCount: Int? { if case .dropsLastParts(let count) = self { count } else { nil } }
    var resetAfter: Int? { if case .resets(let count) = self { count } else { nil } }
    var cacheLifetime: Duration? { if case .cache(let lifetime) = self { lifetime } else { nil } }
    var plainCacheLifetime: Duration? { if case .plainCache(let lifetime) = self { lifetime } else { nil } }
    var renumbering: Int? { if case .renumbers(let distance) = self { distance } else { nil } }
    var excessSkip: Int? { if case .skipsTooMany(let count) = self { count } else { nil } }
    var skipShift: Int? { if case .skipsFromElsewhere(let distance) = self { distance } else { nil } }
    var reportLead: Int? { if case .reportsAhead(let distance) = self { distance } else { nil } }
    var status: SimulatedResponse? {
        if case .status(let status, let seconds) = self { .status(status, retryAfter: seconds) } else { nil }
    }
}
