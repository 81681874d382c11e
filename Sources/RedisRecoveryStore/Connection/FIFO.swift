#if Redis
/// A queue whose first element is taken in constant time.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : elements[head] }

    /// All elements, first to last.
    var all: [Element] { elements[head...].compactMap(\.self) }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes all elements.
    mutating func removeAll() -> [Element] {
        defer {
            elements = []
            head = 0
        }
        return all
    }

    /// Takes those that fulfil the condition.
    mutating func remove(where condition: (Element) -> Bool) -> [Element] {
        let present = removeAll()
        elements = present.filter { !condition($0) }
        return present.filter(condition)
    }
}
#endif
